/**
 * No area makes an actor: `ctx.actors` gives those of its own work, and everybody else's come with requests and calls.
 * The keyring of auth is where a key becomes somebody.
 */
import { lineAt } from './sources.mjs';

const RULE = 'made-actor';
const AREA = /^(?:extensions|fixtures\/areas)\/[a-z0-9-]+\/src\//;
const KEYRING = 'extensions/auth/src/keyring.ts';
/** The makers of the kernel, and an object that says a role and whose rows. */
const MADE = /\bsystemActor\b|\bactorFrom\b|\bactorOf\b(?=[^;]*from '@svc\/api(?:\/internal)?')|\{[^{}]*\brole\b[^{}]*\bownerId\b[^{}]*\}|\{[^{}]*\bownerId\b[^{}]*\brole\b[^{}]*\}/g;
/** A type, a schema and a pattern name the members, too. */
const isLiteral = (text) => !text.startsWith('{') || /\bid:/.test(text);

export const checkMadeActors = (sources) =>
  sources.flatMap((source) => {
    if (!AREA.test(source.file) || source.file === KEYRING) return [];
    return [...source.code.matchAll(MADE)]
      .filter(([text]) => isLiteral(text) && !/\bid: (?:string|Type\.)/.test(text))
      .map(({ index }) => ({ file: source.file, line: lineAt(source.code, index), rule: RULE, message: 'an area makes no actor: take the one of the request or the call, or ctx.actors' }));
  });
