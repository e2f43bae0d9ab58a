import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { accountQuery } from "@/api/account";
import { queryClient } from "@/api/queries";
import { followSystemTheme } from "@/lib/theme";
import { router } from "@/router";
import { Gate } from "@/screens/account/Gate";
import { Toaster } from "@/ui/toast";
import { TooltipProvider } from "@/ui/tooltip";
import "@/theme.css";

followSystemTheme();
void queryClient.prefetchQuery(accountQuery); // nothing is shown before its answer

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Gate>
          <RouterProvider router={router} />
        </Gate>
        <Toaster />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
