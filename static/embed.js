// <llm-figure name="kv-memory" users="10" context="8192">: one figure of the essay in your page, as high as it needs to be.
//
// Other attributes: position (the frame to show), theme ("light", "dark"; without it the figure follows the color-scheme
// of the place where it stands, else the reader's system), and every setting of the figure by its name. Nothing in the
// page around it is changed: the frame lives in a shadow tree of its own.
(() => {
  const script = document.currentScript ?? [...document.scripts].find(({ src }) => /\/embed\.js(\?|$)/.test(src));
  const base = new URL(".", script.src);
  const OWN = /^(id|class|style|title|lang|dir|hidden|slot|part|role|name|theme|loading|tabindex|is|(aria|data)-.*|on.*)$/;
  const HIGHEST = 20000; // px; no figure is higher: what says so is no figure

  class LlmFigure extends HTMLElement {
    connectedCallback() {
      if (this.frame) return;
      const shadow = this.shadowRoot ?? this.attachShadow({ mode: "open" });
      this.frame = document.createElement("iframe");
      this.frame.style.cssText = "display:block;width:100%;height:600px;border:0";
      this.frame.loading = this.getAttribute("loading") === "eager" ? "eager" : "lazy";
      this.frame.allow = "clipboard-write";
      const sheet = new CSSStyleSheet(); // not a <style>: the page around may forbid those
      sheet.replaceSync(":host { display: block }");
      shadow.adoptedStyleSheets = [sheet];
      this.hear = ({ source, origin, data }) => this.take(source, origin, data);
      this.stay = () => this.sayTheme();
      addEventListener("message", this.hear);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.stay);
      this.watch = new MutationObserver(() => this.show());
      this.watch.observe(this, { attributes: true });
      // A page that goes dark does it by an attribute of its root or body.
      this.around = new MutationObserver(this.stay);
      for (const place of [document.documentElement, document.body]) this.around.observe(place, { attributes: true });
      this.show();
    }

    disconnectedCallback() {
      removeEventListener("message", this.hear);
      matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.stay);
      this.watch.disconnect();
      this.around.disconnect();
      this.frame = null;
      this.shown = ""; // put back elsewhere, it gets a new frame
    }

    /** Points the frame to the figure with its settings, unless it shows just that. */
    show() {
      const name = this.getAttribute("name") ?? "";
      if (!/^[a-z]+(-[a-z]+)*$/.test(name)) {
        this.shown = "";
        this.shadowRoot.replaceChildren(`llm-figure needs the name of a figure, as in name="kv-memory", not "${name.slice(0, 40)}"`);
        return;
      }
      if (!this.frame.isConnected) this.shadowRoot.replaceChildren(this.frame);
      const address = new URL(`embed/${name}.html`, base);
      for (const { name: key, value } of this.attributes) if (!OWN.test(key)) address.searchParams.set(key, value);
      if (this.theme()) address.searchParams.set("theme", this.theme());
      const bare = new URL(address);
      bare.searchParams.delete("theme");
      this.frame.title = this.getAttribute("title") ?? name.replaceAll("-", " ");
      if (bare.href !== this.shown) this.frame.src = address;
      else this.sayTheme();
      this.shown = bare.href;
    }

    /** "light" or "dark" where the element is told or its place is only one of them, else "". */
    theme() {
      const told = this.getAttribute("theme") ?? getComputedStyle(this).colorScheme.trim();
      return told === "light" || told === "dark" ? told : "";
    }

    sayTheme() {
      this.say({ theme: this.theme() || "auto" });
    }

    say(what) {
      this.frame?.contentWindow?.postMessage({ type: "llm-figure", ...what }, "*"); // no secret; the frame may be sandboxed
    }

    /** A height, if it comes from our own frame and has the right form. */
    take(source, origin, data) {
      if (!this.frame || source !== this.frame.contentWindow) return;
      if (origin !== base.origin && origin !== "null") return; // "null": this very page is sandboxed
      if (typeof data !== "object" || data?.type !== "llm-figure" || !Number.isFinite(data.height)) return;
      if (data.height <= 0 || data.height > HIGHEST) return;
      this.frame.style.height = `${data.height}px`;
    }
  }

  if (!customElements.get("llm-figure")) customElements.define("llm-figure", LlmFigure);
})();
