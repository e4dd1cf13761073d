/** What restoring a checkpoint would change, and the button that does it. */
import { addressOf, Badge, Button, confirmed, daemon, dateTime, Empty, Failure, Fold, may, type OutputOf, PanelBody, PanelHead, shortId, Shown, useLoaded, useState, whyNot } from '@svc/kit';
import { t } from './words.js';

type Result = OutputOf<'restoreCheckpoint'>;
type File = OutputOf<'previewCheckpoint'>['files'][number];

export const CheckpointView = ({ agentId, commit }: { agentId: string; commit: string }) => {
  const shown = useLoaded(`checkpoint ${agentId} ${commit}`, (signal) => daemon.call('previewCheckpoint', { commit, agent_id: agentId }, { signal }), ['checkpoints', 'files']);
  const [result, setResult] = useState<Result>();
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const restore = async (folder: string, count: number): Promise<void> => {
    if (!(await confirmed({ title: t('restore_title'), text: t('restore_text', { count }), action: t('restore') }))) return;
    setBusy(true);
    setFailure(undefined);
    try {
      setResult(await daemon.call('restoreCheckpoint', { body: { working_dir: folder, commit } }));
      shown.reload();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <PanelHead title={t('one', { commit: shortId(commit) })} back={{ href: addressOf('checkpoints', [agentId]), label: t('back') }} />
      <PanelBody>
        <Shown of={shown}>
          {({ files, total, created_at: at, created_later: later, working_dir: folder }) => {
            const different = files.filter(({ state }) => state !== 'same');
            return (
              <div class="stack">
                <p class="muted">{t('facts', { when: dateTime(at), files: total, different: different.length })}</p>
                {later.length > 0 && <p class="muted">{t('later', { files: later.join(', ') })}</p>}
                {result && <Outcome result={result} />}
                {failure !== undefined && <Failure error={failure} title={t('failed')} />}
                <div>
                  <Button
                    kind="primary"
                    icon="rotate-ccw"
                    disabled={isBusy || different.length === 0 || !may('checkpoints.write')}
                    title={whyNot('checkpoints.write')}
                    onPress={() => void restore(folder, different.length)}
                  >
                    {t('restore_count', { count: different.length })}
                  </Button>
                </div>
                {different.length === 0 ? <Empty icon="circle-check" title={t('same')} /> : different.map((file) => <Difference key={file.path} file={file} />)}
              </div>
            );
          }}
        </Shown>
      </PanelBody>
    </>
  );
};

const Difference = ({ file: { path, state, diff } }: { file: File }) => (
  <Fold
    open
    summary={
      <>
        <bdi>{path}</bdi> <Badge tone={state === 'missing' ? 'warn' : 'info'}>{t(state === 'missing' ? 'missing' : 'changed')}</Badge>
      </>
    }
  >
    {diff === null ? (
      <p class="muted">{t('no_diff')}</p>
    ) : (
      <div class="diff" role="region" aria-label={t('difference', { path })} tabIndex={0}>
        {linesOf(diff).map((line, index) => (
          <div key={index} class={`diff-line ${line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : line.startsWith('@@') ? 'folded' : 'same'}`}>
            <span>{line}</span>
          </div>
        ))}
      </div>
    )}
  </Fold>
);

/** Without the head, which names the file twice. */
const linesOf = (diff: string): string[] => {
  const lines = diff.replace(/\n$/, '').split('\n');
  return lines.slice(
    Math.max(
      0,
      lines.findIndex((line) => line.startsWith('@@')),
    ),
  );
};

const Outcome = ({ result }: { result: Result }) => (
  <div class="card" role="status">
    <p>{t('restored', { count: result.files_restored, commit: shortId(result.safety_commit) })}</p>
    <Paths title={t('skipped')} paths={result.skipped} />
    <Paths title={t('not_kept')} paths={result.not_kept} />
  </div>
);

const Paths = ({ title, paths }: { title: string; paths: Result['skipped'] }) =>
  paths.length === 0 ? null : (
    <>
      <p>{title}</p>
      <ul>
        {paths.map(({ path, why }) => (
          <li key={path}>
            <bdi>{path}</bdi> <span class="muted">{t(why)}</span>
          </li>
        ))}
      </ul>
    </>
  );
