/** @svc/api: the only thing an extension imports at run time. */
export * from './actor.js';
export * from './disposable.js';
export * from './doors.js';
export * from './errors.js';
export * from './events.js';
export * from './extension.js';
export * from './hooks.js';
export * from './http.js';
export * from './journal.js';
export * from './kernel-hooks.js';
export * from './manifest.js';
export * from './schema.js';
export * from './services.js';
export * from './storage.js';
export * from './streams.js';
export * from './tools.js';
