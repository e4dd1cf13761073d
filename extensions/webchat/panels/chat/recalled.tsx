/** What was recalled for a question, as one line that unfolds. */
import { Fold, Icon } from '@svc/kit';
import type { Turn } from './turns.js';
import { t } from './words.js';

type Texts = NonNullable<NonNullable<Turn['question']>['recalled']>;

export const Recalled = ({ texts }: { texts: Texts }) => (
  <Fold
    summary={
      <span class="tool-line">
        <Icon name="brain" size={16} />
        <span class="tool-name">
          {t('recalled')} ({texts.length})
        </span>
      </span>
    }
  >
    {texts.map(({ id, by, source, content }) => (
      <div key={`${by} ${id}`} class="thoughts" dir="auto">
        <strong>{source === '' ? by : source}</strong> {content}
      </div>
    ))}
  </Fold>
);
