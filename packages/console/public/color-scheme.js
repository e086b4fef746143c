/* Sets the colour scheme before anything is painted. External, since the Content-Security-Policy refuses inline scripts. */
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("platform.color-scheme");
  } catch {
    // Storage is refused: the system decides.
  }
  var isDark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", isDark ? "dark" : "light");
})();
