/** `svc mcp`: lists and simple actions are data; what asks people, or reads files, is in cli/mcp.ts. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  { word: 'mcp', summary: 'MCP servers: add, list, remove', usage: 'mcp list|catalog|add|show|login|logout|remove|reconnect|logs|import|serve', order: 34, module: 'mcp' },
];

export const commands: readonly CommandDecl[] = [
  {
    command: 'mcp list',
    summary: 'list the MCP servers',
    operation: 'listMcpServers',
    output: {
      kind: 'table',
      rows: 'servers',
      empty: 'There are no MCP servers. See what there is with: svc mcp catalog',
      columns: [
        { field: 'name', title: 'SERVER' },
        { field: 'status', title: 'STATUS' },
        { field: 'transport', title: 'TRANSPORT' },
        { field: 'tools_count', title: 'TOOLS', format: 'number' },
        { field: 'error', shrinks: true },
      ],
    },
  },
  { command: 'mcp show', summary: 'show one server', operation: 'getMcpServer', args: ['id'], output: { kind: 'record' } },
  {
    command: 'mcp remove',
    summary: 'stop and remove a server, with its stored values',
    operation: 'removeMcpServer',
    args: ['id'],
    confirm: 'Remove the MCP server {id}?',
    output: { kind: 'line', text: 'Removed {name}.' },
  },
  { command: 'mcp logout', summary: 'sign out at a server: its tokens are deleted', operation: 'revokeMcpServerAuth', args: ['id'], output: { kind: 'line', text: 'Signed out at {server}.' } },
  { command: 'mcp reload', summary: 'read templates anew, and connect what is not connected', operation: 'reloadMcp', output: { kind: 'line', text: 'Reloaded; {new_connections} new connections.' } },
];
