/** What extensions add to the process is theirs alone: a route, socket or tool has one owner. Read from contributions.json. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { inRoot } from '../build/paths.mjs';

const RULE = 'one-owner';

const claimsOf = ({ routes, sockets, tools }) => [...routes.map(({ method, path }) => `${method} ${path}`), ...sockets.map(({ path }) => `socket ${path}`), ...tools.map(({ name }) => `tool ${name}`)];

/** `{id}` and `{name}` stand for the same piece of a path. */
const shape = (claim) => claim.replace(/\{[^}]*\}/g, '{}');

export const checkRouteTables = () => {
  const owners = new Map();
  const findings = [];
  for (const folder of readdirSync(inRoot('extensions')).sort()) {
    const file = `extensions/${folder}/contributions.json`;
    if (!existsSync(inRoot(file))) continue;
    for (const claim of claimsOf(JSON.parse(readFileSync(inRoot(file), 'utf8')))) {
      const owner = owners.get(shape(claim));
      if (owner) findings.push({ file, line: 1, rule: RULE, message: `${claim} belongs to ${owner} already` });
      else owners.set(shape(claim), folder);
    }
  }
  return findings;
};
