// Runs in a worker; see worker.d.ts.
export {};
