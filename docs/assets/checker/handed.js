// The files that the home page handed over (drop.js); the first request gets them, and they are forgotten.
export const handed = () =>
  new Promise((resolve) => {
    const request = indexedDB.open("pqassay", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("handed");
    request.onerror = () => resolve([]);
    request.onsuccess = () => {
      const taking = request.result.transaction("handed", "readwrite");
      const found = taking.objectStore("handed").get("files");
      taking.objectStore("handed").delete("files");
      taking.oncomplete = () => {
        request.result.close();
        resolve(found.result ?? []);
      };
      taking.onabort = () => resolve([]);
    };
  });
