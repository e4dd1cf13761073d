/**
 * How much of what was said is found again, on both databases: by words alone, with the built-in embedder, and with one of your own.
 *
 * RECALL_EMBEDDER=URL names a server of OpenAI-compatible embeddings, which is used as the provider vllm; RECALL_SET=FILE another labelled set
 * (fixtures/recall/labelled-set.mjs says its format); RECALL_ONLY=words,own measures these alone.
 */
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { labelledSet } from '../../../../fixtures/recall/labelled-set.mjs';
import { startProgram } from '../../bundle.mjs';
import { call, makeHome, startDaemon } from '../../daemon.mjs';
import { milliseconds, percentile } from '../../figures.mjs';
import { startRecorder } from '../../recorder.mjs';

const FOUND = 10;
const NONE = 'no answer';
const PATIENCE_MS = 300_000;
const MAX_AGAIN = 20;
const AGAIN_MS = 6_000;
/** Questions that were asked again. */
let again = 0;
const SETTINGS = {
  words: 'fts_only = true\n',
  'built-in': '',
  own: 'embedding_provider = "vllm"\n',
};

/** The first model that the embedder serves. */
const ownModel = async () => (await call(`${embedderUrl()}/v1`, 'GET', '/models')).data[0].id;
const embedderUrl = () => process.env.RECALL_EMBEDDER.replace(/\/v1\/?$|\/$/, '');
/** Of all questions with an answer, by words; of names by words; of paraphrases in English by the built-in embedder; of questions without an answer. */
const LEAST = { all: 0.7, names: 0.9, paraphrase: 0.4, none: 0.7 };
const ENGINES_APART = 0.02;

const share = (values) => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length);
const percent = (value) => `${Math.round(value * 1_000) / 10} %`;
const kindOf = ({ kind, language }) => `${kind}, ${language}`;

const setOf = async () => (process.env.RECALL_SET ? JSON.parse(await readFile(process.env.RECALL_SET, 'utf8')) : labelledSet());

const openHome = async (providerUrl, variant, databaseUrl) => {
  const home = await makeHome(providerUrl);
  // The last table of the file is the one of provider addresses.
  const own = variant === 'own' ? `vllm = "${embedderUrl()}/v1"\n` : '';
  const model = variant === 'own' ? `embedding_model = "${await ownModel()}"\n` : '';
  const storage = databaseUrl === undefined ? '' : `\n[storage]\nurl = "${databaseUrl}"\n`;
  await appendFile(path.join(home.home, 'config.toml'), `${own}\n[memory]\n${SETTINGS[variant]}${model}\n[proactive_memory]\nauto_memorize = false\n${storage}`);
  return home;
};

const memoryDetail = async (url) => {
  const { checks } = await call(url, 'GET', '/api/health/detail');
  return checks.find(({ name }) => name === 'memory')?.detail ?? '';
};

const indexed = async (url) => {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const detail = await memoryDetail(url);
    const [, done, all] = /(\d+) of (\d+)/.exec(detail) ?? [];
    if (done !== undefined && done === all) return detail;
    if (performance.now() > end) throw new Error(`not all entries have a vector: ${detail}`);
    await sleep(250);
  }
};

/** An embedder that was late for a question rests, and words answer alone: what is measured is what it finds, so the question is asked again. */
const answeredInTime = async (url, variant, ask) => {
  for (let left = variant === 'own' ? MAX_AGAIN : 0; ; left -= 1) {
    const answer = await ask();
    if (left === 0 || !(await memoryDetail(url)).includes('last error')) return answer;
    again += 1;
    await sleep(AGAIN_MS);
  }
};

/** 1 where all that belongs to an answer was found, and nothing that no longer holds stands before it. */
const scoreOf = ({ answers, stale }, found) => {
  const there = answers.filter((id) => found.includes(id));
  if (stale !== undefined && there.length > 0 && found.includes(stale) && found.indexOf(stale) < found.indexOf(there[0])) return 0;
  return there.length / answers.length;
};

const measure = async (set, variant, databaseUrl) => {
  const provider = await startRecorder();
  const home = await openHome(provider.url, variant, databaseUrl);
  const daemon = await startDaemon(home);
  try {
    const { agent_id: agent } = await call(daemon.url, 'POST', '/api/agents', { name: 'recall' });
    const turns = set.sessions.flatMap((session) => session.turns.map((turn) => ({ ...turn, at: session.at })));
    const idOf = new Map(turns.map(({ id, text }) => [text, id]));
    // One session after the other, as they were said.
    for (const { at, turns: said } of set.sessions)
      await call(
        daemon.url,
        'POST',
        `/api/memory/agents/${agent}/import`,
        said.map(({ text }) => ({ content: text, created_at: at })),
      );
    const standing = variant === 'words' ? '' : await indexed(daemon.url);
    const byKind = {};
    const times = [];
    for (const question of set.questions) {
      byKind[kindOf(question)] ??= { found: [], given: [] };
      const of = byKind[kindOf(question)];
      const { memories } = await answeredInTime(daemon.url, variant, async () => {
        const begun = performance.now();
        const answer = await call(daemon.url, 'GET', `/api/memory/agents/${agent}/search?limit=${FOUND}&q=${encodeURIComponent(question.q)}`);
        times.push(performance.now() - begun);
        return answer;
      });
      await answeredInTime(daemon.url, variant, async () => {
        const { session_id: session } = await call(daemon.url, 'POST', `/api/agents/${agent}/sessions`, {});
        await call(daemon.url, 'POST', `/api/agents/${agent}/message`, { message: question.q, session_id: session });
      });
      const given = [...JSON.stringify(provider.last()).matchAll(/\[memory, [^\]]*\] (.*?)(?=\\n|")/g)].map(([, text]) => idOf.get(text));
      if (question.kind === NONE) of.given.push(given.length === 0 ? 1 : 0);
      else {
        of.found.push(
          scoreOf(
            question,
            memories.map(({ content }) => idOf.get(content)),
          ),
        );
        of.given.push(scoreOf(question, given));
      }
    }
    return {
      byKind: Object.fromEntries(Object.entries(byKind).map(([kind, { found, given }]) => [kind, { count: given.length, found: share(found), given: share(given) }])),
      p50: percentile(times, 50),
      standing,
    };
  } finally {
    await daemon.stop();
    await provider.stop();
    await home.remove();
  }
};

const overall = (byKind) => {
  const answered = Object.entries(byKind).filter(([kind]) => !kind.startsWith(NONE));
  const count = answered.reduce((sum, [, one]) => sum + one.count, 0);
  return answered.reduce((sum, [, one]) => sum + one.found * one.count, 0) / count;
};

/** What a class of a variant should reach, by its figure with words alone. */
const targetOf = (variant, kind, byWords) => {
  if (kind.startsWith(NONE)) return LEAST.none;
  if (variant === 'words') return kind.startsWith('names') ? LEAST.names : undefined;
  return variant === 'built-in' && kind === 'paraphrase, en' ? Math.max(LEAST.paraphrase, byWords ?? 0) : byWords;
};

const rowsOf = (engine, raw, first) =>
  Object.entries(raw[engine]).flatMap(([variant, { byKind, p50, standing }]) => {
    const by = variant === 'own' ? 'an embedder of your own' : variant === 'words' ? 'words' : 'the built-in embedder';
    const note = standing === '' ? '' : `; ${standing}`;
    const all = overall(byKind);
    const rows = Object.entries(byKind).map(([kind, one]) => {
      const isNone = kind.startsWith(NONE);
      const value = isNone ? one.given : one.found;
      const least = targetOf(variant, kind, raw[engine].words?.byKind[kind].found);
      return {
        what: `${kind}: by ${by}, ${engine}`,
        value: percent(value),
        target: least === undefined ? '' : `≥ ${percent(least)}`,
        met: least === undefined || value >= least - 0.000_1,
        method: isNone ? `${one.count} questions to which nothing was given to the model` : `${one.count} questions, all of the answer among the first ten; ${percent(one.given)} given to the model`,
      };
    });
    const apart = Math.abs(all - overall(raw[first][variant].byKind));
    return [
      ...rows,
      {
        what: `all with an answer: by ${by}, ${engine}`,
        value: percent(all),
        target: variant === 'words' ? `≥ ${percent(LEAST.all)}` : '',
        met: (variant !== 'words' || all >= LEAST.all) && apart <= ENGINES_APART,
        method: `${percent(apart)} from ${first}; a search took ${milliseconds(p50)} at p50${note}`,
      },
    ];
  });

export const run = async () => {
  const set = await setOf();
  const named = process.env.RECALL_ONLY?.split(',');
  const variants = Object.keys(SETTINGS).filter((variant) => (variant !== 'own' || process.env.RECALL_EMBEDDER) && (named === undefined || named.includes(variant)));
  const raw = { SQLite: {}, PostgreSQL: {} };
  for (const variant of variants) raw.SQLite[variant] = await measure(set, variant);
  const postgres = await startProgram('postgres-server');
  try {
    const urls = JSON.parse(await postgres.line());
    for (const [index, variant] of variants.entries()) raw.PostgreSQL[variant] = await measure(set, variant, urls[index]);
  } finally {
    await postgres.stop();
  }
  return { rows: Object.keys(raw).flatMap((engine) => rowsOf(engine, raw, 'SQLite')), raw: { ...raw, again } };
};
