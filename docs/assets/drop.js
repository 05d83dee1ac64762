// A file or folder that is dropped on the home page is handed to the page of the checker through the store of this browser, which forgets it there.
(() => {
  const box = document.querySelector("a.drop");
  if (!box || location.protocol === "file:") return;

  const script = document.currentScript.src;
  const hand = (files) => {
    const request = indexedDB.open("pqassay", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("handed");
    request.onsuccess = () => {
      const writing = request.result.transaction("handed", "readwrite");
      writing.objectStore("handed").put(files, "files");
      writing.oncomplete = () => {
        request.result.close();
        location.href = `${box.href}#handed`;
      };
      // A store that is full or forbidden: the page of the checker takes the file itself.
      writing.onabort = () => (location.href = box.href);
    };
    request.onerror = () => (location.href = box.href);
  };

  for (const type of ["dragover", "drop", "dragleave"]) {
    document.addEventListener(type, (event) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      box.classList.toggle("over", type === "dragover");
      if (type !== "drop") return;
      const [entries, files] = [[...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean), [...event.dataTransfer.files]];
      if (!entries.some((entry) => entry.isDirectory)) return hand(files);
      import(new URL("checker/folders.js", script).href)
        .then(({ folder }) => folder(entries))
        .then((found) => hand({ folder: found }), () => (location.href = box.href));
    });
  }
})();
