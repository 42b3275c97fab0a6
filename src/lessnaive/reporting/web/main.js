// The page: colours, and all sections.
const theme = byId("theme");
theme.addEventListener("change", () => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
theme.value = document.documentElement.dataset.theme ?? "auto";
const reportData = JSON.parse(byId("report-data").textContent);
const reportModel = JSON.parse(byId("report-model").textContent);
if (reportData.performance) showPerformance(reportData);
showTerms(reportData);
if (reportData.path) showPath(reportData);
showWhatIf(reportData, reportModel);
document.documentElement.dataset.ready = "true";
