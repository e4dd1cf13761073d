/** @svc/core: the wiring. It knows no HTTP, no SQL and no area. */
export * from './contribution-registry.js';
export * from './event-hub.js';
export * from './generation.js';
export * from './hook-registry.js';
export * from './hook-slot.js';
export * from './installed.js';
export * from './installed-store.js';
export * from './intent.js';
export * from './lifecycle.js';
export * from './lifetime.js';
export * from './live-registry.js';
export * from './module-loader.js';
export * from './owner.js';
export * from './resolver.js';
export * from './service-registry.js';
export * from './strike-book.js';
export * from './tap-order.js';
