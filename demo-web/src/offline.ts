/** After the first visit the page needs no network. */
export async function keepOffline(ready: () => void): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register(new URL('service-worker.js', document.baseURI));
    await navigator.serviceWorker.ready;
    ready();
  } catch {
    // A page of a file or of a private window has none; all else works.
  }
}
