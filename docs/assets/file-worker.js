// Lets the search run in pages that are opened from disk, where browsers start no worker: its script runs in a hidden frame.
// Pages that come from a server use their browser's own workers.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      frame.srcdoc = `<body><script>
        var answer = [];
        var postMessage = (data) => answer.push(data);
        var importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve, reject) => {
          const script = Object.assign(document.createElement("script"), { src: url, onload: resolve, onerror: reject });
          document.body.append(script);
        })), Promise.resolve());
      </script><script src="${new URL(url, location.href)}"></script></body>`;
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow;
          const hand = (data) => {
            const event = new MessageEvent("message", { data });
            this.dispatchEvent(event);
            this.onmessage?.(event);
          };
          inside.answer.forEach(hand);
          inside.postMessage = hand;
          resolve(inside);
        });
      });
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
}
