/** Whether a path of a workspace is in git's own folder. A configuration there names programs, which `git status` runs: to write it is worth more than the commands that were granted. */
export const belongsToGit = (path: string): boolean => path.split(/[/\\]/).some((part) => part.replaceAll(/[\p{Cf}\p{Mn}]|[. ]+$/gu, '').toLowerCase() === '.git');
