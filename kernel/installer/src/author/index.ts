/** What somebody needs who writes an extension: make a folder, build it, do so again with each change. */
export { BUNDLE, type Bundler, findBundler, placeOf } from './bundle.js';
export { type Built, buildExtension } from './build.js';
export { createExtension, type Creation, isThirdPartiesId, TEMPLATE_NAMES } from './create.js';
export { authorErrors } from './errors.js';
export { watchSources } from './watch.js';
