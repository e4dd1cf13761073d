/** What was recalled for a question, as one line that unfolds. */
import { addressOf, Button, confirmed, daemon, Fold, Icon, may, notify, useOffered, useState } from '@svc/kit';
import type { Turn } from './turns.js';
import { t } from './words.js';

type Texts = NonNullable<NonNullable<Turn['question']>['recalled']>;

const MEMORY = 'memory';
/** What is known by such an id is no entry of its own. */
const RELATION = 'relation:';

export const Recalled = ({ texts }: { texts: Texts }) => (
  <Fold
    summary={
      <span class="tool-line">
        <Icon name="brain" size={16} />
        <span class="tool-name">{texts.every(({ by }) => by === MEMORY) ? t('memories_used', { count: texts.length }) : `${t('recalled')} (${texts.length})`}</span>
      </span>
    }
  >
    {texts.map(({ id, by, source, content }) => (
      <div key={`${by} ${id}`} class="thoughts" dir="auto">
        <strong>{source === '' ? by : source}</strong> {content}
        {by === MEMORY && !id.startsWith(RELATION) && <Answers id={id} />}
      </div>
    ))}
  </Fold>
);

/** It is wrong, or should not be known. */
const Answers = ({ id }: { id: string }) => {
  const isOffered = useOffered();
  const [isGone, setGone] = useState(false);
  if (!isOffered(MEMORY)) return null;
  if (isGone) return <span class="muted"> {t('forgotten')}</span>;
  const forget = async (): Promise<void> => {
    if (!(await confirmed({ title: t('forget_title'), text: t('forget_text'), action: t('forget'), isDangerous: true }))) return;
    await daemon.call('deleteMemory', { memory_id: id });
    setGone(true);
    notify(t('forgotten'));
  };
  return (
    <span class="row wrap">
      <a class="button small" href={addressOf(MEMORY, ['entry', id])}>
        {t('wrong')}
      </a>
      {may('memory.write') && (
        <Button small onPress={forget}>
          {t('forget')}
        </Button>
      )}
    </span>
  );
};
