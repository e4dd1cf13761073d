/** How an import went, for people and programs. */
import type { Plain } from '@svc/api';
import type { ImportRow, OutcomeRow } from './contract.js';
import type { Report } from './shapes.js';
import type { SourceType } from './sources/model.js';
import type { ImportStore, Tally } from './store.js';

const SHOWN = 5_000;
const IN_TEXT = 200;

type ReportOf = Plain<typeof Report>;

export const reportOf = async (store: ImportStore, row: ImportRow): Promise<ReportOf> => {
  const [tallies, imported, skipped] = await Promise.all([store.tallies(row.id), store.shown(row.id, true, SHOWN), store.shown(row.id, false, SHOWN)]);
  const count = (kind: string): number => tallies.find((one) => one.kind === kind)?.imported ?? 0;
  const sum = (pick: (tally: Tally) => number): number => tallies.reduce((total, tally) => total + pick(tally), 0);
  const kindOf = ({ kind }: OutcomeRow): ReportOf['imported'][number]['kind'] => kind as ReportOf['imported'][number]['kind']; // as the importer wrote it
  const warnings = listIn(row.warnings);
  const done = sum(({ items }) => items);
  const report = {
    id: row.id,
    status: row.status as ReportOf['status'], // one of STATES
    dry_run: Number(row.dry_run) === 1,
    source: row.source as SourceType,
    path: row.path,
    progress: { step: row.step, done, total: Math.max(row.total, done) },
    found: byKind(tallies, ({ items }) => items),
    imported_by_kind: byKind(tallies, (tally) => tally.imported),
    skipped_by_kind: byKind(tallies, ({ items, imported: taken }) => items - taken),
    agents_imported: count('Agent'),
    skills_imported: count('Skill'),
    sessions_imported: count('Session'),
    messages_found: sum(({ messages }) => messages),
    messages_imported: sum(({ messages_imported: messages }) => messages),
    memories_imported: count('Memory'),
    imported: imported.map((one) => ({ kind: kindOf(one), name: one.name, destination: one.detail })),
    imported_count: sum((tally) => tally.imported),
    skipped: skipped.map((one) => ({ kind: kindOf(one), name: one.name, reason: one.detail })),
    skipped_count: sum(({ items, imported: taken }) => items - taken),
    warnings,
    error: row.error,
    created_at: row.created_at,
    ended_at: row.ended_at,
  };
  return { ...report, report_markdown: textOf(report, tallies) };
};

/** A JSON column is text or, on some engines, its value. */
export const listIn = (value: unknown): string[] => {
  const list: unknown = typeof value === 'string' ? JSON.parse(value) : value;
  return Array.isArray(list) ? list.map(String) : [];
};

const byKind = (tallies: readonly Tally[], pick: (tally: Tally) => number): Record<string, number> => Object.fromEntries(tallies.map((tally) => [tally.kind.toLowerCase(), pick(tally)]));

/** What a table or a line of Markdown would take for its own. */
const plain = (text: string): string => text.replace(/[\r\n]+/g, ' ').replace(/[\\`*_{}[\]<>|#]/g, '\\$&');

const textOf = (report: Omit<ReportOf, 'report_markdown'>, tallies: readonly Tally[]): string => {
  const { skipped, warnings, dry_run: isDry } = report;
  const rows = tallies.map(({ kind, items, imported }) => `| ${kind} | ${items} | ${imported} | ${items - imported} |`);
  return [
    `# Import from ${plain(report.path)}`,
    '',
    isDry ? 'A dry run: nothing was changed.' : `Status: ${report.status}.`,
    '',
    '| what | found | imported | skipped |',
    '|---|--:|--:|--:|',
    ...rows,
    '',
    `Messages: ${report.messages_found} found, ${report.messages_imported} imported.`,
    ...(warnings.length === 0 ? [] : ['', '## Warnings', '', ...warnings.map((warning) => `- ${plain(warning)}`)]),
    ...(skipped.length === 0 ? [] : ['', '## Skipped', '', ...skipped.slice(0, IN_TEXT).map(({ kind, name, reason }) => `- ${kind} ${plain(name)}: ${plain(reason)}`)]),
    ...(skipped.length > IN_TEXT ? [`- and ${report.skipped_count - IN_TEXT} more`] : []),
  ].join('\n');
};
