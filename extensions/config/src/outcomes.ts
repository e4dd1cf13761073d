/** What became of a change, in the words of the interface. */
import type { Plain, SettingChanged, SettingsApplied } from '@svc/api';
import type { ReloadAnswer, SetAnswer } from './answers.js';

/** `asked` is the name that the caller knows. */
export const setAnswer = (asked: string, { path, applied, failed }: SettingChanged): Plain<typeof SetAnswer> => {
  const named = { path: asked, ...(asked === path ? {} : { stands_as: path }) };
  if (!applied) return { status: 'saved_reload_failed', ...named, reload_error: failed ?? 'unknown cause', warnings: [] };
  const waits = waitsFor(path, applied);
  return { status: waits === undefined ? 'applied' : 'applied_partial', ...named, ...(waits === undefined ? {} : { waits_for: waits }), warnings: [...applied.problems] };
};

const waitsFor = (path: string, { restart, unread }: SettingsApplied): string | undefined => {
  const isMeant = (one: string): boolean => one === path || one.startsWith(`${path}.`);
  if (restart.some(isMeant)) return 'the next start of the daemon';
  return unread.some(isMeant) ? 'its area, which is switched off' : undefined;
};

export const reloadAnswer = ({ changed, unread, restart, problems }: SettingsApplied): Plain<typeof ReloadAnswer> => ({
  status: changed.length === 0 ? 'no_changes' : restart.length > 0 || problems.length > 0 ? 'partial' : 'applied',
  restart_required: restart.length > 0,
  restart_reasons: restart.map((path) => `${path} was changed and takes effect at the next start.`),
  hot_actions_applied: changed.filter((path) => !restart.includes(path) && !unread.includes(path)),
  noop_changes: [...unread],
  warnings: [...problems],
});
