/**
 * Words that stop a turn, by language, and what people say politely around them. Data: compared
 * without case, accents and punctuation, so each is listed once. Only words that people
 * do not say alone without meaning a stop.
 */
interface StopLanguage {
  readonly stop: readonly string[];
  readonly polite: readonly string[];
}

export const stopLanguages: Readonly<Record<string, StopLanguage>> = {
  en: {
    stop: ["stop", "stop it", "stop that", "stop now", "abort", "halt", "interrupt"],
    polite: ["please", "pls", "plz", "ok", "okay", "thanks", "thank you"],
  },
  de: {
    stop: ["stopp", "anhalten", "aufhören", "hör auf", "hoer auf", "abbrechen", "abbruch"],
    polite: ["bitte", "danke"],
  },
  es: { stop: ["detente", "deten", "para ya", "basta"], polite: ["por favor", "gracias"] },
  fr: {
    stop: ["arrête", "arrêtez", "arrête ça", "arrêter"],
    polite: ["s'il te plaît", "s'il vous plaît", "stp", "svp", "merci"],
  },
  pt: { stop: ["pare", "parar", "pare já"], polite: ["por favor", "obrigado", "obrigada"] },
  ru: {
    stop: ["стоп", "остановись", "остановитесь", "останови", "остановить", "прекрати"],
    polite: ["пожалуйста", "спасибо"],
  },
  zh: { stop: ["停", "停止", "停下", "停下来", "住手"], polite: ["请", "請", "谢谢", "謝謝"] },
  ja: {
    stop: ["停止", "やめて", "止めて", "止まって", "ストップ", "中止"],
    polite: ["ください", "下さい", "お願いします", "おねがいします"],
  },
  hi: { stop: ["रुको", "रुकिए", "बंद करो", "रोको"], polite: ["कृपया", "धन्यवाद"] },
  ar: { stop: ["توقف", "قف", "أوقف"], polite: ["من فضلك", "لو سمحت", "رجاء", "شكرا"] },
};

/** The default of `commands.stopWords`. */
export const stopWords: readonly string[] = [
  ...new Set(Object.values(stopLanguages).flatMap(({ stop }) => stop)),
];
