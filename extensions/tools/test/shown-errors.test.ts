import { expect } from 'chai';
import { toolErrors } from '../src/errors.js';

const LONG = 'x'.repeat(500);

describe('errors of tools', () => {
  it('have the status that says whose doing it is', () => {
    const statuses = [
      toolErrors.unknown('x', []),
      toolErrors.not_offered('x', 'y'),
      toolErrors.bad_arguments('x', 'y'),
      toolErrors.timed_out('x', 1),
      toolErrors.cancelled('x'),
      toolErrors.failed('x'),
      toolErrors.path_denied('x'),
      toolErrors.no_file('x'),
      toolErrors.not_a_folder('x'),
      toolErrors.file_too_large('x', 2, 1),
      toolErrors.not_text('x'),
      toolErrors.patch_invalid('x', 1),
      toolErrors.patch_conflict('x', 'y'),
      toolErrors.patch_too_costly(),
      toolErrors.page_too_large(1),
    ].map(({ code, status, retry }) => `${code} ${status}${retry ? ' retry' : ''}`);
    expect(statuses).to.deep.equal([
      'tools_unknown 404',
      'tools_not_offered 403',
      'tools_bad_arguments 400',
      'tools_timed_out 504 retry',
      'tools_cancelled 499 retry',
      'tools_failed 500',
      'tools_path_denied 403',
      'tools_no_file 404',
      'tools_not_a_folder 400',
      'tools_file_too_large 413',
      'tools_not_text 415',
      'tools_patch_invalid 400',
      'tools_patch_conflict 409',
      'tools_patch_too_costly 413',
      'tools_page_too_large 413',
    ]);
  });

  it('quote no more of what a model wrote than a person would read', () => {
    expect(toolErrors.unknown(LONG, []).message).to.match(/"x{100}"\.$/);
    for (const error of [toolErrors.path_denied(LONG), toolErrors.no_file(LONG), toolErrors.not_a_folder(LONG), toolErrors.file_too_large(LONG, 2, 1), toolErrors.not_text(LONG)])
      expect(error.message, error.code).to.match(/"x{200}"/);
  });

  it('name the tools that may have been meant, where there are any', () => {
    expect(toolErrors.unknown('a', ['b', 'c']).message).to.equal('There is no tool "a". Did you mean b or c?');
    expect(toolErrors.unknown('a', []).message).to.equal('There is no tool "a".');
  });
});
