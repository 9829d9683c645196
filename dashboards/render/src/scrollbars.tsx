import { forwardRef, type ReactNode } from 'react';

/** Stands in for react-custom-scrollbars-2. */
export const Scrollbars = forwardRef<HTMLDivElement, { children?: ReactNode }>(function Scrollbars({ children }, ref) {
  return (
    <div ref={ref} style={{ position: 'relative', width: '100%', height: '100%', overflow: 'hidden' }}>
      {children}
    </div>
  );
});

export default Scrollbars;
