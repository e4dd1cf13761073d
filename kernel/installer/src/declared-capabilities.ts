/** Holds the capabilities that an extension declares to its manifest and to the rules of their names. */
import { capabilityNameFault, type ExtensionDefinition } from '@svc/api';
import { isCapability, type Manifest } from '@svc/api/internal';

/** Throws where extension.json, the definition and its contract do not say the same. */
export const checkCapabilities = ({ capabilities = [], contract = {} }: ExtensionDefinition, manifest: Manifest): void => {
  const names = capabilities.map(({ name }) => name);
  const claimed = manifest.capabilities ?? [];
  for (const name of [...names, ...claimed]) {
    const fault = capabilityNameFault(name);
    if (fault !== undefined) throw new Error(`declares the capability ${name}, which ${fault}`);
  }
  const odd = capabilities.findIndex((one) => !isCapability(one));
  if (odd >= 0) throw new Error(`declares the capability ${names[odd]} by something else than defineCapability`);
  const doubled = names.find((name, index) => names.indexOf(name) !== index);
  if (doubled !== undefined) throw new Error(`declares the capability ${doubled} twice`);
  const bare = claimed.find((name) => !names.includes(name));
  if (bare !== undefined) throw new Error(`extension.json names the capability "${bare}", which the code does not declare: list its defineCapability under "capabilities" of defineExtension`);
  const unclaimed = names.find((name) => !claimed.includes(name));
  if (unclaimed !== undefined) throw new Error(`the code declares the capability "${unclaimed}", which extension.json does not name under "capabilities"`);
  const unlisted = Object.values(contract).find((one) => isCapability(one) && !names.includes(one.name));
  if (isCapability(unlisted)) throw new Error(`the contract exports the capability "${unlisted.name}", which is not listed under "capabilities" of defineExtension`);
};
