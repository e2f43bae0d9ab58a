// Before the first paint: theme and language as last chosen, so that nothing flashes.
(function () {
  var root = document.documentElement;
  try {
    var theme = localStorage.getItem("wenfang.theme");
    var lang = localStorage.getItem("wenfang.lang");
  } catch (_) {
    /* storage is blocked: the system's choice holds */
  }
  var dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = theme === "light" || theme === "dark" ? theme : dark ? "dark" : "light";
  root.lang = lang === "zh" || lang === "en" ? lang : /^zh/i.test(navigator.language) ? "zh" : "en";
})();
