import { defineErrors } from '@svc/api';

export const mcpErrors = defineErrors('mcp', {
  not_found: { status: 404, retry: false, message: (name: string) => `There is no MCP server "${name}".`, hint: 'GET /api/mcp/servers lists them.' },
  template_not_found: { status: 404, retry: false, message: (id: string, near: string) => `The catalog has no template "${id}".${near}`, hint: 'GET /api/mcp/catalog lists them.' },
  exists: { status: 409, retry: false, message: (name: string) => `There is an MCP server "${name}" already.`, hint: 'Choose another name, or change that one with PUT /api/mcp/servers/{name}.' },
  in_config: {
    status: 409,
    retry: false,
    message: (name: string) => `The MCP server "${name}" is defined in config.toml, so it cannot be changed here.`,
    hint: 'Change it under [[mcp_servers]] in config.toml.',
  },
  bad_spec: {
    status: 400,
    retry: false,
    message: (why: string) => `The MCP server cannot be used: ${why}.`,
    hint: 'Send {"name": "…", "transport": {"type": "stdio", "command": "…", "args": []}}, or {"template_id": "…", "credentials": {}}.',
  },
  too_many: { status: 409, retry: false, message: (limit: number) => `There are ${limit} MCP servers already, which is the limit.`, hint: 'Remove those that are no longer used.' },
  unknown_servers: { status: 400, retry: false, message: (names: string) => `There is no MCP server ${names}.`, hint: 'GET /api/mcp/servers lists them; "*" means all.' },
  connect_failed: {
    status: 500,
    retry: true,
    message: (name: string, why: string) => `The MCP server "${name}" could not be connected: ${why}`,
    hint: 'See `svc mcp logs` for what it wrote, and `svc doctor`.',
  },
  unavailable: {
    status: 503,
    retry: true,
    message: (name: string, why: string) => `The MCP server "${name}" is not connected: ${why}`,
    hint: 'svc tries again by itself. `svc mcp reconnect` tries at once.',
  },
  call_failed: {
    status: 502,
    retry: false,
    message: (name: string, why: string) => `The MCP server "${name}" answered with an error: ${why}`,
    hint: 'Check the arguments against the schema of the tool.',
  },
  too_slow: { status: 504, retry: true, message: (name: string, secs: number) => `The MCP server "${name}" did not answer within ${secs} s.`, hint: 'Set a larger timeout_secs for the server.' },
  other_site: { status: 403, retry: false, message: (origin: string) => `Pages of ${origin} may not use /mcp.`, hint: 'Add the origin to [api] cors_origins, or use a program.' },
  no_sign_in: {
    status: 400,
    retry: false,
    message: (name: string, why: string) => `Nobody can sign in at the MCP server "${name}": ${why}.`,
    hint: 'Only servers with an address have a sign-in. For others, set their values with svc mcp add.',
  },
  sign_in_failed: {
    status: 502,
    retry: true,
    message: (name: string, why: string) => `The sign-in at the MCP server "${name}" could not begin: ${why}`,
    hint: 'Check the address of the server. If its authority registers no clients, set client_id under oauth, or set an Authorization header instead.',
  },
  sign_in_over: { status: 400, retry: false, message: () => 'This sign-in could not be finished: it is over, was begun elsewhere, or was refused.', hint: 'Begin it again: svc mcp login NAME.' },
  too_large: { status: 502, retry: false, message: (limit: number) => `The answer has more than ${limit} bytes, which is the limit for MCP servers.`, hint: 'Ask for less.' },
});
