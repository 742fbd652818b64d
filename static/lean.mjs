// What of BokehJS our plots have no use for, left out: it halves the work of the first drawing and of every change after it.
//
// Bokeh prepares each renderer in five manners: as it is, muted, selected, not selected, decimated. Nothing of ours can be
// selected or zoomed. It asks the page's styles for the look of each axis at each painting. No style sheet of ours has one.

class Absent {
  constructor(model) {
    this.model = model;
  }
  *children() {}
}
for (const name of ["set_base", "set_data", "set_visuals", "after_visuals", "after_lazy_visuals", "map_data", "remove"]) {
  Absent.prototype[name] = () => {};
}

const TASK_MS = 25; // a plot of many renderers takes longer than a frame: it is built in pieces

/** Lets BokehJS (of the release that is pinned) build the first view of a renderer and the muted one, and clear its canvases
 *  to the edge: by itself it leaves half a pixel on the left, where letters of an earlier layout would stay.
 *  @param {() => Promise} rest  waited for after every few of them */
export function lean({ require }, rest) {
  const { GlyphRendererView } = require("models/renderers/glyph_renderer");
  const { VisualProperties } = require("core/visuals/visual");
  const { CanvasLayer } = require("core/util/canvas");
  VisualProperties.prototype._get_css_value = () => "";
  CanvasLayer.prototype.clear = function () {
    this.undo_transform((ctx) => ctx.clearRect(0, 0, this.canvas.width, this.canvas.height));
  };
  const { build_glyph_view } = GlyphRendererView.prototype;
  let since = 0;
  GlyphRendererView.prototype.build_glyph_view = async function (model) {
    if (this.glyph && model !== this.model.muted_glyph) return new Absent(this.glyph.model);
    if (performance.now() - since > TASK_MS) {
      await rest();
      since = performance.now();
    }
    return build_glyph_view.call(this, model);
  };
}
