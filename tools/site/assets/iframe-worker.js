// A Worker for pages that are read from a folder, without a server: browsers refuse theirs to
// file: pages. The script runs in a hidden frame instead, which passes messages on.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => setTimeout(() => this.tell(data)); // of the script, to the page
      inside.importScripts = () => Promise.resolve();
      inside.__index = window.__index;
      const script = inside.document.createElement("script");
      script.src = new URL(url, location.href).href;
      script.onload = () => {
        for (const data of this.waiting.splice(0)) this.hand(data);
        this.waiting = null;
      };
      inside.document.body.appendChild(script);
    }
    tell(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    hand(data) {
      const inside = this.frame.contentWindow;
      setTimeout(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.hand(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
