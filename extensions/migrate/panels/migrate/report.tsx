/** How an import is going, and how it went. */
import { addressOf, count, Fold, type OutputOf, Section, Table } from '@svc/kit';
import { t } from './words.js';

export type Report = OutputOf<'getMigration'>;

export const Progress = ({ of: { progress } }: { readonly of: Report }) => (
  <div class="stack" role="status">
    <p>{t('running', { done: count(progress.done), total: count(progress.total), step: progress.step })}</p>
    <progress aria-label={t('progress')} max={Math.max(1, progress.total)} value={progress.done} />
  </div>
);

export const ReportView = ({ of: report }: { readonly of: Report }) => {
  const rows = Object.entries(report.found).map(([kind, found]) => ({ kind, found, imported: report.imported_by_kind[kind] ?? 0, skipped: report.skipped_by_kind[kind] ?? 0 }));
  return (
    <Section title={t(report.dry_run ? 'dry_report' : 'report')}>
      {report.status === 'failed' && <p role="alert">{t('failed', { error: report.error ?? '' })}</p>}
      {report.warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
      <Table
        label={t('report')}
        rows={rows}
        keyOf={({ kind }) => kind}
        columns={[
          { id: 'kind', title: t('kind'), cell: ({ kind }) => kind },
          { id: 'found', title: t('in_source'), cell: ({ found }) => count(found) },
          { id: 'imported', title: t('imported'), cell: ({ imported }) => count(imported) },
          { id: 'skipped', title: t('skipped'), cell: ({ skipped }) => count(skipped) },
        ]}
      />
      <p>
        {t('messages', { imported: count(report.messages_imported), found: count(report.messages_found) })}
        {!report.dry_run && report.sessions_imported > 0 && (
          <>
            {' · '}
            <a href={addressOf('sessions')}>{t('conversations')}</a>
          </>
        )}
      </p>
      {report.skipped.length > 0 && (
        <Fold summary={t('skipped_items')}>
          <Table
            label={t('skipped_items')}
            rows={report.skipped.slice(0, 500).map((row, index) => ({ ...row, index }))}
            keyOf={({ index }) => String(index)}
            columns={[
              { id: 'kind', title: t('kind'), cell: ({ kind }) => kind },
              { id: 'name', title: t('name'), cell: ({ name }) => <bdi>{name}</bdi> },
              { id: 'reason', title: t('reason'), cell: ({ reason }) => reason },
            ]}
          />
        </Fold>
      )}
    </Section>
  );
};
