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
