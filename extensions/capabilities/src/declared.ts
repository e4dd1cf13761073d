/**
 * Capabilities that areas declare, validated by what they declared, whether or not they are on.
 *
 * D1  What no installed area declares is granted to nobody and refused to everybody, by its name.
 * D2  A grant that has another form than the declaration covers nothing.
 */
import { type CapabilityDecl, type Capabilities, coversGrant, grantOf, type ListCapability, targetOf, parsedUrl } from '@svc/api';
import { listed } from './shell-command.js';

const MAX_SHOWN = 200;

export const capabilityNamed = (name: string, declared: readonly CapabilityDecl[]): CapabilityDecl | undefined => declared.find((one) => one.name === name);

/** Whether the manifest grants anything of it. */
export const isGrantedAtAll = (capability: CapabilityDecl, capabilities: Capabilities): boolean =>
  capability.grant === 'flag' ? grantOf(capability, capabilities) : grantOf(capability, capabilities).length > 0;

/** Why this tool cannot run where nothing of it is granted, with the line that would grant it. */
export const missingGrant = (tool: string, capability: CapabilityDecl): string =>
  `This agent may not use ${tool}: its manifest grants nothing under [capabilities] ${capability.name}. Do without it, or ask a person to add the line ${lineOf(capability)}.`;

/** Why what is granted does not cover this target; undefined when it does. A flag that is granted covers every target. */
export const uncoveredTarget = (capability: CapabilityDecl, target: string | undefined, capabilities: Capabilities): string | undefined => {
  if (capability.grant === 'flag') return undefined;
  const patterns = grantOf(capability, capabilities);
  if (target === undefined ? patterns.includes('*') : coversGrant(capability, patterns, inForm(capability, target))) return undefined;
  const allows = `[capabilities] ${capability.name} allows ${listed(patterns)}`;
  if (target === undefined) return `This call does not declare what it needs ${capability.name} for, and this agent does not have all of it: ${allows}.`;
  const shown = JSON.stringify(target.slice(0, MAX_SHOWN));
  return `This agent does not have ${capability.name} for ${shown}: ${allows}. Do without it, or ask a person to add the line ${lineOf(capability, shown)}.`;
};

/** Of an address its host and port. What is no host is covered by nothing. */
const inForm = ({ grant }: ListCapability, target: string): string => {
  const url = grant === 'hosts' && target.includes('://') ? parsedUrl(target) : undefined;
  if (!url) return target;
  const { host, port } = targetOf(url);
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
};

const lineOf = ({ name, grant }: CapabilityDecl, pattern = '"…"'): string => `${name} = ${grant === 'flag' ? 'true' : `[${pattern}]`}`;
