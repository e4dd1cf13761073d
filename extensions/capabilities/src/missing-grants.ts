/** What a person could grant so that a refused call would be allowed, as `[capabilities]` of a manifest has it. */
import { type Need, parsedUrl } from '@svc/api';
import { type CallToCheck, type NamedNeed, refusalOf, unlisted } from './policy.js';

/** Empty where no grant would help: a tool that the manifest denies, a target that nobody can name. */
export const missingGrants = (call: CallToCheck): Need[] => {
  const { tool, needs, capabilities } = call;
  if (unlisted(tool, capabilities) !== undefined) return tool.source && capabilities.sources?.[tool.source.kind] ? [] : [{ capability: 'tools', target: tool.name }];
  if (tool.risk === 'exec' && capabilities.exec?.mode === 'deny') return [];
  return needs.filter((need) => refusalOf({ ...call, needs: [need] }) !== undefined).flatMap(grantFor);
};

/** The narrowest grant that covers the need. */
const grantFor = ({ capability, target, names }: NamedNeed): Need[] => {
  if (target === undefined) return [{ capability }];
  if (capability === 'network') {
    const host = parsedUrl(target)?.host;
    return host === undefined ? [] : [{ capability, target: host }];
  }
  return [{ capability, target: names?.[0] ?? target }];
};
