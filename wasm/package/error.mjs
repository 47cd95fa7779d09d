/** What went wrong: `status` is the name in adapvae.h, `index` the row, field or byte, or -1. */
export class AdapVAEError extends Error {
  constructor(status, message, index = -1) {
    super(message);
    this.name = 'AdapVAEError';
    this.status = status;
    this.index = index;
  }
}
