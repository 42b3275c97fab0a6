// The page: colours, and all sections.
const theme = byId("theme");
theme.addEventListener("change", () => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
theme.value = document.documentElement.dataset.theme ?? "auto";

// Data of the page: JSON, compressed.
async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

async function showAll() {
  const [data, model] = await Promise.all([unpack("report-data"), unpack("report-model")]);
  if (data.performance) showPerformance(data);
  showTerms(data);
  if (data.path) showPath(data);
  showWhatIf(data, model);
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
}

showAll().catch((error) => {
  byId("failed").hidden = false;
  throw error;
});
