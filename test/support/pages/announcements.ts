/**
 * What a screen reader announces
 * ==============================
 * Run in the page, whose types the tests do not have: `listen` keeps from then on the text of all
 * that is added to a region that speaks, or changes in it, and `announced` is what was recorded. It may begin again.
 */
export const recordAnnouncements = `window.announced = [];
const regions = "[aria-live], [role=status], [role=alert], [role=log]";
const hear = (node) => {
  const element = node instanceof Element ? node : node.parentElement;
  const region = element?.closest(regions);
  // A region that is emptied says nothing.
  if (region && region.getAttribute("aria-live") !== "off" && node.textContent !== "")
    window.announced.push(node.textContent);
};
window.listener?.disconnect();
window.listener = new MutationObserver((changes) => {
  for (const { type, target, addedNodes } of changes)
    if (type === "characterData") hear(target);
    else addedNodes.forEach(hear);
});
window.listener.observe(document.body, { childList: true, characterData: true, subtree: true });`;
export const announced = "window.announced";
