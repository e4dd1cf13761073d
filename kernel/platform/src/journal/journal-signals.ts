/** What journals over one database tell each other. Each beat of the leases finds in the database what was lost on the way. */
export type JournalSignal =
  /** A run of this kind can be claimed. */
  | { readonly is: 'ready'; readonly kind: string }
  /** The run no longer holds a place in its lane. */
  | { readonly is: 'left'; readonly lane: string; readonly runId: string }
  /** The row of the run says that it is to be interrupted. */
  | { readonly is: 'interrupt'; readonly runId: string };
