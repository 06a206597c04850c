"""Reports: a result as one HTML file with interactive views and tables, which needs no server."""

from lasthop.report.report import Report, Reported, report_of, write_report

__all__ = ["Report", "Reported", "report_of", "write_report"]
