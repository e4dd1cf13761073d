/** The request that a run waits for, by code that is loaded with the first one. */
import '@svc/ext-approvals/page.css';
import { failed, useCode } from '@svc/kit';

export const WaitingRequest = ({ id }: { id: string }) => {
  const { code } = useCode(() => import('@svc/ext-approvals/page'), failed);
  return code ? <code.WaitingFor id={id} /> : null;
};
