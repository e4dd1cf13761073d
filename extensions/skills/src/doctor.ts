/** What `svc doctor` says of skills: those that do not work, and what they lack. */
import type { DoctorFinding, ExtensionContext } from '@svc/api';
import { offReason } from './assigned.js';
import { programsOf } from './install/plan.js';
import type { Library } from './library.js';

const CHECK = 'skills';
const MAX_LOOKED_AT = 50;

export const findingsOf = async (library: Library, isDisabled: (name: string) => boolean, exec: ExtensionContext['exec']): Promise<DoctorFinding[]> => {
  const all = library.list();
  const faults = all
    .filter(({ fault }) => fault !== undefined)
    .map((entry): DoctorFinding => ({ check: CHECK, result: 'fail', message: `${entry.name}: ${offReason(entry, isDisabled) ?? ''}`, fix: `svc skills get ${entry.name}` }));
  const asking = all.filter(({ skill }) => skill !== undefined && (skill.requires.bins.length > 0 || skill.program !== undefined)).slice(0, MAX_LOOKED_AT);
  const lacking = await Promise.all(
    asking.map(async ({ name, skill }): Promise<DoctorFinding[]> => {
      const missing = skill ? (await programsOf(exec, { runtime: skill.runtime, requires: { ...skill.requires, anyBins: [] } })).filter(({ found }) => !found).map((program) => program.name) : [];
      if (missing.length === 0) return [];
      return [
        {
          check: CHECK,
          result: 'warn',
          message: `${name} needs ${missing.join(', ')}, which this machine lacks.`,
          ...(skill?.requires.installs[0] === undefined ? {} : { fix: skill.requires.installs[0] }),
        },
      ];
    }),
  );
  const found = [...faults, ...lacking.flat()];
  return found.length > 0 ? found : [{ check: CHECK, result: 'pass', message: `${all.length} skills are installed and can be loaded.` }];
};
