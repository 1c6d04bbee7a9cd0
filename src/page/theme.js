/* Colours: the system's, or the other ones, by the button `theme`. */

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : darkSystem.matches;
}

function markTheme() {
  byId("theme").ariaPressed = String(isDark());
}

/* Pages of a file may have nowhere to keep it. */
function stored(change) {
  try {
    return change ? localStorage.setItem("columnstone-theme", change) : localStorage.getItem("columnstone-theme");
  } catch {
    return null;
  }
}

byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  stored(document.documentElement.dataset.theme);
  markTheme();
});
darkSystem.addEventListener("change", markTheme);
if (["dark", "light"].includes(stored())) {
  document.documentElement.dataset.theme = stored();
}
