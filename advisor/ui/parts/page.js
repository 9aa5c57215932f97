// Script of all pages, within the page itself; it holds nothing that anybody typed.

// The answer that comes with the page is drawn in the theme that Streamlit keeps for the visitor.
try {
  const keeps = `stActiveTheme-${location.pathname}-v`;
  const theme = Object.entries(localStorage).find(([key]) => key.startsWith(keeps))?.[1] ?? "";
  const scheme = theme.toLowerCase().match(/light|dark/)?.[0];
  if (scheme) document.documentElement.style.colorScheme = scheme;
} catch {
  // A browser that keeps nothing for the page has no theme for it either.
}

// Copy buttons of code blocks.
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

// A link within HTML to another page goes there as the browser's Back does, without a reload.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[target=_self]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (new URL(link.href).origin !== location.origin) return;
  event.preventDefault();
  history.pushState({}, "", link.href);
  dispatchEvent(new PopStateEvent("popstate"));
  document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
});

// Buttons within HTML press the widget of their key, or that part of the hidden one. The answer is
// drawn anew then, so that the one that was pressed is looked up again for the keyboard.
let lastPressed = "";
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-press]");
  if (!button) return;
  lastPressed = button.dataset.press;
  const parts = [...document.querySelectorAll(".st-key-pressed button")];
  const part = parts.find((each) => each.textContent === lastPressed);
  (part ?? document.querySelector(`.st-key-${lastPressed} button`))?.click();
});
document.addEventListener("pointerdown", () => (lastPressed = ""), true);

// The graphics card that the browser names, offered and told to nobody: following the link puts
// the card into the address as the machine. A browser tells no size of RAM above 8 GB, so that a
// usual one is offered beside it, in words.
function graphicsCard() {
  const context = document.createElement("canvas").getContext("webgl");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  const text = names ? context.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  if (text.includes("or similar")) return ""; // Firefox names a class of cards
  const card = /Apple M\d+(?: (?:Pro|Max|Ultra))?|(?:GeForce )?[RG]TX [^/(,]+|Radeon (?:RX|PRO) [^/(,]+|Arc(?:\(TM\))? [AB]\d+\w*/i;
  const found = text.match(card)?.[0] ?? "";
  return found.replace(/\(TM\)|GeForce |Direct3D.*|OpenGL.*|Vulkan.*/g, "").replace(/ GPU\s*$/, "").trim();
}

let ownCard;
const RAM = navigator.deviceMemory < 8 ? navigator.deviceMemory : 16;
function offerCard() {
  const hint = document.querySelector(".oa-hint[hidden]");
  if (!hint) return;
  ownCard ??= graphicsCard();
  if (!ownCard) return;
  const asked = new URLSearchParams(location.search);
  asked.set("machine", `${ownCard} with ${RAM} GB RAM`);
  const use = document.createElement("a");
  use.target = "_self";
  use.href = `?${asked}`;
  use.textContent = `Use it, with ${RAM} GB`;
  const own = document.createElement("button");
  own.type = "button";
  own.className = "oa-press oa-own";
  own.textContent = "Type my own";
  hint.replaceChildren(`Your browser reports ${/^[AEIOUR]/.test(ownCard) ? "an" : "a"} ${ownCard}. `, use, " ", own);
  hint.hidden = false;
}

// "Type my own" leads to the machine's words, all of them marked.
document.addEventListener("click", (event) => {
  if (!event.target.closest(".oa-own")) return;
  const words = document.querySelector(".st-key-in_machine input");
  words?.focus();
  words?.select();
});

// What is typed into a list that also takes other words is its last row, in plain words.
function nameTyped() {
  const words = document.querySelector('[data-key="__creatable__"] [data-item-hl]')?.firstChild;
  if (words?.nodeValue?.startsWith("Add: ")) words.nodeValue = words.nodeValue.replace("Add: ", "Use as typed: ");
}

// Asking the browser takes a tenth of a second where it draws in software: after the answer.
const later = window.requestIdleCallback ?? ((run) => setTimeout(run, 200));
new MutationObserver(() => {
  nameTyped();
  if (lastPressed && document.activeElement === document.body)
    document.querySelector(`[data-press="${lastPressed}"]`)?.focus({ preventScroll: true });
  // The answer that came with the page itself goes when the page has drawn its own, or an error.
  if (document.querySelector("#root :is(h1, .oa-notice)")) document.querySelector(".oa-early")?.remove();
  if (ownCard !== "" && document.querySelector(".oa-hint[hidden]") && document.querySelector("#root #verdict"))
    later(offerCard);
}).observe(document.body, { childList: true, characterData: true, subtree: true });
