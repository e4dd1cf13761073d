/** `‹ 2/3 ›`: from one version to the one before or after it. */
import { IconButton, type RefObject } from '@svc/kit';
import { t } from './words.js';

interface VersionStepsProps<T> {
  readonly versions: readonly T[];
  /** Which of them is shown. */
  readonly at: number;
  readonly onStep: (version: T, by: 1 | -1) => unknown;
  readonly label?: string;
  readonly own?: RefObject<HTMLSpanElement | null>;
}

export const VersionSteps = <T extends string | number>({ versions, at, onStep, label, own }: VersionStepsProps<T>) => {
  const step = (by: 1 | -1) => {
    const next = versions[at + by];
    return { disabled: next === undefined, onPress: () => (next === undefined ? undefined : onStep(next, by)) };
  };
  return (
    <span class="versions" {...(label === undefined ? {} : { role: 'group', 'aria-label': label })} {...(own ? { ref: own } : {})}>
      <IconButton small icon="chevron-left" label={t('version_before')} {...step(-1)} />
      <span class="numbers" role="status" aria-label={t('version_of', { at: at + 1, count: versions.length })}>
        {at + 1}/{versions.length}
      </span>
      <IconButton small icon="chevron-right" label={t('version_after')} {...step(1)} />
    </span>
  );
};
