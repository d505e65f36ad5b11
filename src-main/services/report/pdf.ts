/**
 * A report as PDF. It is printed twice: a draft tells on which page each heading comes to lie, the second
 * print has the numbers in its contents. The date of making is the session's, so that the same session
 * gives the same bytes wherever the same browser with the same fonts prints it.
 */
import { placesInPdf, stablePdf, type PdfPrinter } from '../../adapters/print/pdf'
import type { ReportStage } from '../../contract/report'
import { printPage, type PrintDocument } from './print'

export interface PdfTools {
  printPdf: PdfPrinter
  /** Hears what is being done. */
  onStage?: ((stage: ReportStage) => void) | undefined
}

/** `madeOn`: an ISO date, of the report or of what it tells. */
export async function printPdfReport(
  document: PrintDocument,
  madeOn: string,
  { printPdf, onStage }: PdfTools,
): Promise<Uint8Array> {
  onStage?.('layout')
  const pages = placesInPdf(await printPdf(printPage(document), { draft: true }))
  onStage?.('print')
  return stablePdf(await printPdf(printPage(document, pages)), new Date(madeOn))
}
