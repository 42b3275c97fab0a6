// The path along which the model was chosen.
function showPath({ path }) {
  const place = byId("path-chart");
  const note = path.left_out ? `; ${path.left_out} that go less far are not drawn` : "";
  const names = path.lines.map((line) => line.name);
  picture(place, (width) => {
    const falling = path.x.length > 1 && path.x[0] > path.x[path.x.length - 1];
    const ends = [path.x[0], path.x[path.x.length - 1]];
    const x = ends[0] === ends[1] ? [ends[0] - 1, ends[1] + 1] : ends;
    const series = path.lines.map((line, k) => ({ name: line.name, x: path.x, y: line.y, style: colour(k) }));
    const marks = path.chosen === null ? [] : [{ at: path.chosen, text: `chosen: ${show(path.chosen)}` }];
    const label = `Path of ${path.y_name} by ${path.x_name}`;
    const { svg } = lineChart({ width, series, x, xName: `${path.x_name}${falling ? ", from strong to weak" : ""}`, yName: path.y_name, log: path.log, marks, label });
    return make("div", {}, svg, legend(names, names.map((_, k) => k)), note ? make("p", { class: "quiet" }, `The farthest ${names.length}${note}.`) : null);
  });
}
