/** The functions of taint that read texts which anybody can send. */
import { startedPrograms } from '@svc/ext-capabilities/contract';
import { sourceOfText } from '../src/after.js';
import { scanText, warnedOf } from '../src/injection/scan.js';
import { addressWords, bareCommand, commandForms, commandsIn, fileWords, mayFetch, mayRunFiles, readsUnnamed, runsText } from '../src/policy/commands.js';
import { createCorpus } from '../src/policy/corpus.js';
import { detect } from '../src/policy/detectors.js';
import { flowOf } from '../src/policy/flows.js';
import { addressesIn, namesIn } from '../src/policy/identifiers.js';
import { decodedForms, readable, squeezed } from '../src/policy/normal-text.js';

/** The words that the rules begin with: without one of them most patterns are not tried. */
const HINTS = 'ignore disregard previous prior above system assistant tool function translate new strictly before the task you are now your user message from to ai\nsystem: message from ';
const SOURCE = { labels: ['ExternalNetwork'], name: 'a page' } as const;
const SHELL = { name: 'shell_exec', description: '', params: {}, risk: 'exec', replay: 'never', parallel: false, capabilities: ['shell'] } as const;
const leaves = (text: string) => [{ key: 'text', text, isText: true }];

export const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  scanText: (text) => scanText(`${HINTS}${text}${HINTS}\n${text}`),
  warnedOf,
  addressesIn,
  namesIn,
  detect: (text) => detect(leaves(text), new Set(['Secret', 'Pii'])),
  bareCommand,
  runsText,
  commandForms: (text) => commandForms(`sudo ${text}`),
  startedPrograms: (text) => startedPrograms(`env ${text}`),
  addressWords: (text) => addressWords(`curl ${text}`),
  mayFetch: (text) => mayFetch(text, true),
  mayRunFiles,
  fileWords,
  commandsIn,
  readsUnnamed,
  readable,
  squeezed,
  decodedForms,
  'a trusted message': (text) => createCorpus().addTrusted(text),
  'a file that is written': (text) => {
    const corpus = createCorpus();
    corpus.addOutside(text, SOURCE);
    return sourceOfText([corpus], `${text.slice(0, -9)}\n`);
  },
  'a result from outside': (text) => createCorpus().addOutside(text, SOURCE),
  'a call that runs a command': (text) => {
    const corpus = createCorpus();
    corpus.addTrusted('go on');
    corpus.addOutside(text, SOURCE);
    corpus.addHit(['a_rule'], SOURCE);
    return flowOf([corpus], { tool: SHELL, args: { command: text }, needs: [{ capability: 'shell', target: text }] });
  },
};
