import { defineErrors } from '@svc/api';

/** Most of these are read by a model, as the result of its call: message and hint must make sense to it. */
export const toolErrors = defineErrors('tools', {
  unknown: {
    status: 404,
    retry: false,
    message: (name: string, near: readonly string[]) => `There is no tool "${name.slice(0, 100)}".${near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''}`,
    hint: 'Use one of the tools that were listed.',
  },
  unavailable: { status: 404, retry: true, message: (name: string, why: string) => `${name} cannot be called now: ${why}.` },
  invoke_disabled: {
    status: 403,
    retry: false,
    message: () => 'Tools are not called directly here: [tool_invoke] enabled is false.',
    hint: 'An operator can set enabled = true and name the tools in allowlist, both under [tool_invoke] in config.toml.',
  },
  invoke_not_allowed: {
    status: 403,
    retry: false,
    message: (name: string) => `"${name.slice(0, 100)}" may not be called directly: [tool_invoke] allowlist does not name it.`,
    hint: 'An operator can add the name, or a pattern such as "file_*", to allowlist under [tool_invoke] in config.toml.',
  },
  needs_approval: {
    status: 403,
    retry: false,
    message: (name: string, why: string) => `${name} was not called: a person has to approve it first (${why.slice(0, 200)}), and only the run of an agent can wait for that.`,
    hint: 'Ask the agent to do it.',
  },
  needs_agent: { status: 400, retry: false, message: (name: string) => `${name} was not called: what it makes belongs to an agent, and none was named.`, hint: 'Add the query agent_id.' },
  not_offered: { status: 403, retry: false, message: (name: string, why: string) => `This agent may not use ${name}: ${why}.`, hint: 'Do without it.' },
  bad_arguments: {
    status: 400,
    retry: false,
    message: (name: string, problem: string) => `The arguments of ${name} cannot be used: ${problem}.`,
    hint: "Send one JSON object that fits the tool's schema.",
  },
  bad_schema: { status: 502, retry: false, message: (name: string, why: string) => `${name} cannot be called: ${why}`, hint: 'Who offers the tool has to mend its schema.' },
  timed_out: { status: 504, retry: true, message: (name: string, ms: number) => `${name} did not end within ${Math.round(ms / 1000)} s and was stopped.`, hint: 'Ask for less at a time.' },
  cancelled: { status: 499, retry: true, message: (name: string) => `${name} was cancelled.` },
  failed: {
    status: 500,
    retry: false,
    message: (name: string) => `${name} failed for a reason inside the daemon; its log has the details.`,
    hint: 'Trying once more may help; otherwise tell the person.',
  },
  path_denied: {
    status: 403,
    retry: false,
    message: (path: string) => `Path traversal denied: "${path.slice(0, 200)}" leads out of the workspace.`,
    hint: 'Paths are relative to the workspace and hold no "..".',
  },
  no_file: { status: 404, retry: false, message: (path: string) => `The workspace has no file "${path.slice(0, 200)}".`, hint: 'file_list shows what is there.' },
  not_a_folder: { status: 400, retry: false, message: (path: string) => `"${path.slice(0, 200)}" is not a folder.`, hint: 'file_read reads a file.' },
  file_too_large: { status: 413, retry: false, message: (path: string, bytes: number, limit: number) => `"${path.slice(0, 200)}" has ${bytes} bytes; at most ${limit} can be worked on.` },
  not_text: { status: 415, retry: false, message: (path: string) => `"${path.slice(0, 200)}" is not a text file.` },
  patch_invalid: {
    status: 400,
    retry: false,
    message: (what: string, line: number) => `The patch cannot be read at its line ${line}: ${what}.`,
    hint: 'Between "*** Begin Patch" and "*** End Patch" stand sections "*** Add File: path" (lines with +), "*** Update File: path" (hunks after @@ with lines that begin with space, - or +) and "*** Delete File: path".',
  },
  patch_conflict: {
    status: 409,
    retry: false,
    message: (path: string, what: string) => `Nothing was changed: ${path}: ${what}.`,
    hint: 'Read the file again and make the patch from what it holds now.',
  },
  patch_too_costly: {
    status: 413,
    retry: false,
    message: () => 'Nothing was changed: to find the places of this patch takes more comparisons than one patch may cause.',
    hint: 'Send fewer hunks at a time, or write the file anew with file_write.',
  },
  page_too_large: { status: 413, retry: false, message: (limit: number) => `The page has more than ${limit} bytes.`, hint: 'Fetch a smaller one.' },
});
