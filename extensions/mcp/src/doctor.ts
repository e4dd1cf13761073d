/** What `svc doctor` says of each MCP server. */
import type { DoctorFinding } from '@svc/api';
import type { Catalog } from './catalog/catalog.js';
import type { Servers } from './servers.js';

export const findingsOf = async (servers: Servers, catalog: Catalog): Promise<DoctorFinding[]> => {
  const check = 'mcp_servers';
  const faults = [...servers.faults(), ...(await catalog.list()).faults];
  return [
    ...servers.list().map(({ spec: { name }, state }): DoctorFinding => {
      const { status, error, tools, warnings } = state();
      if (status === 'connected')
        return warnings.length > 0 ? { check, result: 'warn', message: `${name}: ${warnings.join(' ')}` } : { check, result: 'pass', message: `${name} is connected and has ${tools.length} tools.` };
      if (status === 'disabled') return { check, result: 'pass', message: `${name} is switched off.` };
      if (status === 'connecting') return { check, result: 'warn', message: `${name} is being connected.`, fix: 'svc mcp list' };
      return { check, result: status === 'setup' ? 'warn' : 'fail', message: `${name}: ${error ?? 'it is not connected.'}`, fix: status === 'setup' ? `svc mcp add ${name}` : `svc mcp logs ${name}` };
    }),
    ...faults.map((message): DoctorFinding => ({ check, result: 'fail', message, fix: 'correct it, and run svc mcp reload' })),
  ];
};
