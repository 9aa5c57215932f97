// One listener for the copy buttons of all code blocks, however often the page sends this.
if (!window.copiesCode) {
  window.copiesCode = true;
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".oa-copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Browsers keep the clipboard from addresses without TLS; a selection can still be copied.
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}

// A link within HTML to another page goes there as the browser's Back does, without a reload.
if (!window.goesAlong) {
  window.goesAlong = true;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[target=_self]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (new URL(link.href).origin !== location.origin) return;
    event.preventDefault();
    history.pushState({}, "", link.href);
    dispatchEvent(new PopStateEvent("popstate"));
    document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
  });
}

// Buttons within HTML press the widget of their key. The answer is drawn anew then, so that the one
// that was pressed is looked up again for the keyboard.
if (!window.pressesWidgets) {
  window.pressesWidgets = true;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-press]");
    if (!button) return;
    window.lastPressed = button.dataset.press;
    document.querySelector(`.st-key-${window.lastPressed} button`)?.click();
  });
  new MutationObserver(() => {
    if (!window.lastPressed || document.activeElement !== document.body) return;
    document.querySelector(`[data-press="${window.lastPressed}"]`)?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
  document.addEventListener("pointerdown", () => (window.lastPressed = ""), true);
}

// The graphics card that the browser names, offered as a link and told to nobody: following it
// puts the card into the address as the machine.
function graphicsCard() {
  const context = document.createElement("canvas").getContext("webgl");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  const text = names ? context.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  if (text.includes("or similar")) return ""; // Firefox names a class of cards
  const card = /Apple M\d+(?: (?:Pro|Max|Ultra))?|(?:GeForce )?[RG]TX [^/(,]+|Radeon (?:RX|PRO) [^/(,]+|Arc(?:\(TM\))? [AB]\d+\w*/i;
  const found = text.match(card)?.[0] ?? "";
  return found.replace(/\(TM\)|Direct3D.*|OpenGL.*|Vulkan.*/g, "").trim();
}

function offerCard() {
  const link = document.querySelector(".oa-hint[hidden]");
  if (!link) return;
  window.ownCard ??= graphicsCard();
  if (!window.ownCard) return;
  const asked = new URLSearchParams(location.search);
  asked.set("machine", window.ownCard);
  link.href = `?${asked}`;
  link.textContent = `Your browser names a ${window.ownCard}: use it`;
  link.hidden = false;
}

if (!window.offersCard) {
  window.offersCard = true;
  const later = window.requestIdleCallback ?? ((run) => setTimeout(run, 200));
  new MutationObserver(() => {
    if (document.querySelector(".oa-hint[hidden]") && window.ownCard !== "") later(offerCard);
  }).observe(document.body, { childList: true, subtree: true });
}
