/**
 * Where the browser knows trusted types, the page's policy (index.html) forbids to read text as markup or as a program at all. What is left is to
 * start a worker: from the page's own server.
 */
interface Rules {
  createScriptURL(address: string): string;
}
const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: Rules): unknown } };

trustedTypes?.createPolicy('default', {
  createScriptURL(address) {
    if (new URL(address, location.href).origin !== location.origin) throw new TypeError(`this page runs nothing from ${address}`);
    return address;
  },
});
