/**
 * Emoji of reactions
 * ==================
 * Slack names them (https://docs.slack.dev/reference/methods/reactions.add). The names of those that
 * people react with; others, and those that a workspace has made itself, keep their name: `:name:`.
 */

const table = `+1 👍,thumbsup 👍,-1 👎,thumbsdown 👎,heart ❤️,eyes 👀,white_check_mark ✅,heavy_check_mark ✔️,x ❌,
tada 🎉,joy 😂,smile 😄,grinning 😀,smiley 😃,grin 😁,laughing 😆,sweat_smile 😅,rolling_on_the_floor_laughing 🤣,
blush 😊,slightly_smiling_face 🙂,upside_down_face 🙃,wink 😉,heart_eyes 😍,kissing_heart 😘,yum 😋,sunglasses 😎,
nerd_face 🤓,thinking_face 🤔,neutral_face 😐,expressionless 😑,no_mouth 😶,smirk 😏,unamused 😒,face_with_rolling_eyes 🙄,
grimacing 😬,relieved 😌,pensive 😔,sleepy 😪,sleeping 😴,mask 😷,confused 😕,worried 😟,open_mouth 😮,hushed 😯,
astonished 😲,flushed 😳,cry 😢,sob 😭,scream 😱,disappointed 😞,sweat 😓,weary 😩,tired_face 😫,triumph 😤,rage 😡,
angry 😠,exploding_head 🤯,cold_sweat 😰,skull 💀,hankey 💩,clown_face 🤡,ghost 👻,alien 👽,robot_face 🤖,
wave 👋,raised_hand ✋,ok_hand 👌,v ✌️,crossed_fingers 🤞,the_horns 🤘,call_me_hand 🤙,point_left 👈,point_right 👉,
point_up_2 👆,point_down 👇,fist ✊,facepunch 👊,clap 👏,raised_hands 🙌,open_hands 👐,handshake 🤝,pray 🙏,muscle 💪,
writing_hand ✍️,hugging_face 🤗,saluting_face 🫡,shrug 🤷,face_palm 🤦,man-shrugging 🤷‍♂️,woman-shrugging 🤷‍♀️,
broken_heart 💔,orange_heart 🧡,yellow_heart 💛,green_heart 💚,blue_heart 💙,purple_heart 💜,black_heart 🖤,
heart_on_fire ❤️‍🔥,100 💯,boom 💥,sparkles ✨,star ⭐,star2 🌟,dizzy 💫,fire 🔥,zap ⚡,rainbow 🌈,sunny ☀️,cloud ☁️,
snowflake ❄️,ocean 🌊,hourglass ⌛,hourglass_flowing_sand ⏳,watch ⌚,alarm_clock ⏰,stopwatch ⏱️,calendar 📆,
memo 📝,pencil2 ✏️,paperclip 📎,pushpin 📌,round_pushpin 📍,mag 🔍,bulb 💡,lock 🔒,unlock 🔓,key 🔑,hammer 🔨,wrench 🔧,
gear ⚙️,link 🔗,email 📧,inbox_tray 📥,outbox_tray 📤,package 📦,speech_balloon 💬,thought_balloon 💭,mega 📣,
loudspeaker 📢,bell 🔔,no_bell 🔕,chart_with_upwards_trend 📈,chart_with_downwards_trend 📉,bar_chart 📊,computer 💻,
iphone 📱,telephone_receiver 📞,camera 📷,microphone 🎤,musical_note 🎵,headphones 🎧,game_die 🎲,dart 🎯,trophy 🏆,
first_place_medal 🥇,rocket 🚀,ship 🚢,airplane ✈️,car 🚗,construction 🚧,rotating_light 🚨,warning ⚠️,no_entry ⛔,
no_entry_sign 🚫,question ❓,exclamation ❗,bangbang ‼️,heavy_plus_sign ➕,heavy_minus_sign ➖,arrows_counterclockwise 🔄,
repeat 🔁,arrow_forward ▶️,double_vertical_bar ⏸️,black_square_for_stop ⏹️,arrow_up ⬆️,arrow_down ⬇️,arrow_left ⬅️,
arrow_right ➡️,recycle ♻️,red_circle 🔴,large_green_circle 🟢,large_yellow_circle 🟡,large_blue_circle 🔵,white_circle ⚪,
black_circle ⚫,one 1️⃣,two 2️⃣,three 3️⃣,four 4️⃣,five 5️⃣,coffee ☕,beer 🍺,beers 🍻,pizza 🍕,cake 🍰,birthday 🎂,
gift 🎁,balloon 🎈,confetti_ball 🎊,bug 🐛,cat 🐱,dog 🐶,see_no_evil 🙈,hear_no_evil 🙉,speak_no_evil 🙊,unicorn_face 🦄,
party_popper 🎉,partying_face 🥳,star-struck 🤩,melting_face 🫠,money_mouth_face 🤑,zipper_mouth_face 🤐,imp 👿,moyai 🗿,
banana 🍌,strawberry 🍓,champagne 🍾,lips 💋,fu 🖕,jack_o_lantern 🎃,christmas_tree 🎄,santa 🎅,snowman ☃️,nail_care 💅`;

const pairs = table
  .split(",")
  .map((entry) => entry.trim().split(" ") as [name: string, emoji: string]);
const emojiByName = new Map(pairs);
/** Without the selector that only asks for colours. */
const bare = (emoji: string) => emoji.replaceAll("\ufe0f", "");
const nameByEmoji = new Map(pairs.toReversed().map(([name, emoji]) => [bare(emoji), name]));
const tones = ["🏻", "🏼", "🏽", "🏾", "🏿"];

/** What Slack calls a reaction, as an emoji where that is known. */
export function emojiOf(reaction: string): string {
  const [, name = reaction, tone] = /^(.+?)(?:::skin-tone-([2-6]))?$/.exec(reaction) ?? [];
  const emoji = emojiByName.get(name);
  if (emoji === undefined) return `:${name.slice(0, 62)}:`;
  return tone === undefined ? emoji : bare(emoji) + (tones[Number(tone) - 2] ?? "");
}

/** Slack's name of an emoji; null: unknown. */
export function reactionOf(emoji: string): string | null {
  const own = /^:([a-z0-9_+'-]{1,100}):$/.exec(emoji)?.[1];
  if (own !== undefined) return own;
  const plain = bare(emoji);
  const tone = tones.findIndex((mark) => plain.endsWith(mark));
  const base = tone < 0 ? plain : plain.slice(0, -(tones[tone] as string).length);
  const name = nameByEmoji.get(base);
  if (name === undefined) return null;
  return tone < 0 ? name : `${name}::skin-tone-${tone + 2}`;
}
