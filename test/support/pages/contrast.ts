/**
 * Contrast that axe leaves open
 * =============================
 * axe gives no answer for text in a drawing, beside what is cut off, of one letter, or below something that a style
 * draws. The colours are put together here as the browser does it: backgrounds and opacities of everything around
 * the text, and in a drawing the shapes that were drawn below it. It says so where it does not know either.
 */

/**
 * JavaScript for the page: an expression whose value is a function. It takes nodes that axe calls incomplete, with
 * their elements, and answers what is wrong with each, or null.
 */
export const contrastInPage = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const known = new Map();
  // Any colour that a style may have, as red, green, blue (0 to 255) and alpha (0 to 1).
  const read = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(color, [red, green, blue, alpha / 255]);
    }
    return known.get(color);
  };
  const mix = (below, above, share) => below.map((one, at) => one + (above[at] - one) * share);
  const over = (below, [red, green, blue, alpha], share = 1) =>
    mix(below, [red, green, blue], alpha * share);
  const light = (color) => {
    const [red, green, blue] = color.map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratioOf = (one, other) => {
    const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  // Shapes of a drawing that were drawn before a text and lie below its middle.
  const below = (text) => {
    const box = text.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return [...text.ownerSVGElement.querySelectorAll("rect, circle, ellipse, path, polygon")].filter(
      (shape) => {
        const isBefore = text.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_PRECEDING;
        const area = shape.getBoundingClientRect();
        return isBefore && getComputedStyle(shape).fill !== "none" &&
          x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
      },
    );
  };
  const colours = (element) => {
    const isDrawn = element.ownerSVGElement != null;
    const chain = [];
    for (let one = element; one !== null; one = one.parentElement) chain.unshift(one);
    const within = (at, backdrop) => {
      const style = getComputedStyle(chain[at]);
      if (style.backgroundImage !== "none") throw new Error("a picture is behind it");
      let own = over(backdrop, read(style.backgroundColor));
      let both;
      if (at === chain.length - 1) {
        if (isDrawn)
          for (const shape of below(element)) {
            const { fill, fillOpacity, opacity } = getComputedStyle(shape);
            own = over(own, read(fill), fillOpacity * opacity);
          }
        const ink = read(isDrawn ? style.fill : style.color);
        if (ink[3] === 0) return null;
        both = [own, over(own, ink)];
      } else both = within(at + 1, own);
      return both && both.map((one) => mix(backdrop, one, Number(style.opacity)));
    };
    return within(0, [255, 255, 255]);
  };
  const words = (color) => "rgb(" + color.map(Math.round).join(", ") + ")";
  return ({ element, any }) => {
    const wanted = Number.parseFloat(any[0]?.data?.expectedContrastRatio ?? "4.5");
    try {
      const both = colours(element);
      // Text that is not drawn: what it says is drawn by another element, which is looked at by itself.
      if (both === null) return null;
      const ratio = ratioOf(...both);
      if (ratio >= wanted) return null;
      return ratio.toFixed(2) + " of " + wanted + ": " + words(both[1]) + " on " + words(both[0]);
    } catch (error) {
      return "not known: " + error.message;
    }
  };
})()`;
