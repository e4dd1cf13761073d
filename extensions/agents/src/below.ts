/** Which agents an agent made. */

/** No agent stands further below another: a chain that is longer is one that somebody damaged. */
const MAX_DEPTH = 100;

interface Made {
  readonly parentId: string | null;
}

/** Whether the agent of the id `above` made this one, or made whoever made it. */
export const isBelow = async (find: (id: string) => Promise<Made | undefined>, agent: Made | undefined, above: string): Promise<boolean> => {
  for (let at = agent, depth = 0; at?.parentId && depth < MAX_DEPTH; depth++) {
    if (at.parentId === above) return true;
    at = await find(at.parentId);
  }
  return false;
};
