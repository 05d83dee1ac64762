// The worker as a function: `ask(what, with)` promises its answer. The worker starts with the first question.
export class Judge {
  constructor(scripts, runtime, progress) {
    Object.assign(this, { scripts, runtime, progress, waiting: new Map(), last: 0, ready: null });
  }

  start() {
    this.ready ??= this.#begin();
    return this.ready;
  }

  async ask(what, more = {}) {
    await this.start();
    return this.#send(what, more);
  }

  #begin() {
    // A worker that comes from an address has no policy but its own answer's; one from here is under this page's, which lets nothing out.
    const address = new URL("worker.js", this.scripts).href;
    const program = URL.createObjectURL(new Blob([`import ${JSON.stringify(address)};`], { type: "text/javascript" }));
    this.worker = new Worker(program, { type: "module" });
    this.worker.onmessage = ({ data }) => {
      if (data.id === undefined) return this.progress(data.loaded, data.total);
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error === undefined) resolve(data.answer);
      else reject(new Error(data.error));
    };
    this.worker.onerror = (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message || "the worker did not start"));
      this.waiting.clear();
    };
    return this.#send("start", { runtime: this.runtime });
  }

  #send(ask, more) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, ask, ...more });
    });
  }
}
