/** What the commands of other areas have of providers. */
export { exitOfKey, keyLines, tryKey } from './key-test.js';
export { knownProvider, type ProviderDetail } from './provider-lookup.js';
