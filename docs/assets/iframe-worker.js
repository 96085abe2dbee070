// SPDX-License-Identifier: MIT
// A browser starts no worker from a file: the search of the site, opened from the disk, runs in a frame instead.
if (location.protocol === 'file:') {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement('iframe');
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      this.waiting = [];
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent('message', {data}));
      const script = inner.document.createElement('script');
      script.src = url;
      script.onload = () => {
        this.inner = inner;
        for (const data of this.waiting.splice(0)) this.postMessage(data);
      };
      inner.document.body.append(script);
    }
    postMessage(data) {
      if (!this.inner) this.waiting.push(data);
      else this.inner.dispatchEvent(new this.inner.MessageEvent('message', {data}));
    }
  };
}
